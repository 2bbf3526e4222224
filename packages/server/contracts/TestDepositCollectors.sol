// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {BATCH_SETTLEMENT, IERC20, IPermittable, IReceivesWithAuthorization, PERMIT2} from "./Interfaces.sol";
import {TestPermit2} from "./TestPermit2.sol";

/// Brings a payer's deposit to the contract of the channels, which alone may ask for it.
interface IDepositCollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// Deposits by EIP-3009. The authorisation's nonce names the channel, so that it serves no other one.
contract TestERC3009DepositCollector is IDepositCollector {
    error OnlySettlement();
    error TransferFailed();

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != BATCH_SETTLEMENT) revert OnlySettlement();
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        IReceivesWithAuthorization(token).receiveWithAuthorization(
            payer,
            address(this),
            amount,
            validAfter,
            validBefore,
            keccak256(abi.encode(channelId, salt)),
            signature
        );
        if (!IERC20(token).transfer(msg.sender, amount)) revert TransferFailed();
    }
}

/// Deposits by Permit2. The witness names the channel.
contract TestPermit2DepositCollector is IDepositCollector {
    string private constant WITNESS_TYPE_STRING =
        "DepositWitness witness)DepositWitness(bytes32 channelId)TokenPermissions(address token,uint256 amount)";
    bytes32 private constant WITNESS_TYPEHASH = keccak256("DepositWitness(bytes32 channelId)");

    error OnlySettlement();

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != BATCH_SETTLEMENT) revert OnlySettlement();
        (uint256 nonce, uint256 deadline, bytes memory signature, bytes memory permit2612) =
            abi.decode(data, (uint256, uint256, bytes, bytes));
        if (permit2612.length > 0) _approve(payer, token, permit2612);
        TestPermit2(PERMIT2).permitWitnessTransferFrom(
            TestPermit2.PermitTransferFrom(TestPermit2.TokenPermissions(token, amount), nonce, deadline),
            TestPermit2.SignatureTransferDetails(msg.sender, amount),
            payer,
            keccak256(abi.encode(WITNESS_TYPEHASH, channelId)),
            WITNESS_TYPE_STRING,
            signature
        );
    }

    /// A permit that fails is passed over: the allowance may be there already.
    function _approve(address payer, address token, bytes memory permit2612) private {
        (uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) =
            abi.decode(permit2612, (uint256, uint256, uint8, bytes32, bytes32));
        try IPermittable(token).permit(payer, PERMIT2, value, deadline, v, r, s) {} catch {}
    }
}
