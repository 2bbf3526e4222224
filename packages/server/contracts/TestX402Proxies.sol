// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IPermittable, PERMIT2 as PERMIT2_ADDRESS} from "./Interfaces.sol";
import {TestPermit2} from "./TestPermit2.sol";

/// What the stand-ins for x402's two Permit2 proxies share: the payer's Permit2 signature carries a witness that
/// fixes who is paid, so that whoever submits it can't pay another.
abstract contract TestX402Proxy {
    struct EIP2612Permit {
        uint256 value;
        uint256 deadline;
        bytes32 r;
        bytes32 s;
        uint8 v;
    }

    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error InvalidDestination();
    error InvalidOwner();
    error PaymentTooEarly();
    error Permit2612AmountMismatch();

    function PERMIT2() public pure returns (address) {
        return PERMIT2_ADDRESS;
    }

    /// A permit that fails is passed over: the allowance may be there already.
    function _approve(
        EIP2612Permit calldata permit2612,
        TestPermit2.PermitTransferFrom calldata permit,
        address owner
    ) internal {
        if (permit2612.value != permit.permitted.amount) revert Permit2612AmountMismatch();
        try IPermittable(permit.permitted.token).permit(
            owner, PERMIT2_ADDRESS, permit2612.value, permit2612.deadline, permit2612.v, permit2612.r, permit2612.s
        ) {} catch {}
    }

    function _pay(
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        address to,
        uint256 validAfter,
        bytes32 witness,
        string memory witnessTypeString,
        bytes calldata signature
    ) internal {
        if (amount == 0) revert InvalidAmount();
        if (owner == address(0)) revert InvalidOwner();
        if (to == address(0)) revert InvalidDestination();
        if (block.timestamp < validAfter) revert PaymentTooEarly();
        TestPermit2(PERMIT2_ADDRESS).permitWitnessTransferFrom(
            permit,
            TestPermit2.SignatureTransferDetails({to: to, requestedAmount: amount}),
            owner,
            witness,
            witnessTypeString,
            signature
        );
    }
}

/// x402's `exact` scheme over Permit2: the whole permitted amount.
contract TestX402ExactPermit2Proxy is TestX402Proxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    function settle(
        TestPermit2.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        _settle(permit, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        TestPermit2.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        _approve(permit2612, permit, owner);
        _settle(permit, owner, witness, signature);
        emit SettledWithPermit();
    }

    function _settle(
        TestPermit2.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        _pay(
            permit,
            permit.permitted.amount,
            owner,
            witness.to,
            witness.validAfter,
            hash,
            WITNESS_TYPE_STRING,
            signature
        );
    }
}

/// x402's `upto` scheme over Permit2: at most the permitted amount, and only at the hand of the facilitator that the
/// payer has named.
contract TestX402UptoPermit2Proxy is TestX402Proxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    function settle(
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        _settle(permit, amount, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        _approve(permit2612, permit, owner);
        _settle(permit, amount, owner, witness, signature);
        emit SettledWithPermit();
    }

    function _settle(
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        bytes32 hash =
            keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        _pay(permit, amount, owner, witness.to, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
