// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "./Interfaces.sol";
import {Signatures} from "./Signatures.sol";
import {IDepositCollector} from "./TestDepositCollectors.sol";

/// A stand-in, on a development chain, for the contract of x402's `batch-settlement` scheme: one-way payment channels.
/// A payer deposits once and signs vouchers of growing amounts; the receiver's side claims what the newest voucher
/// allows and has it paid out; what is unclaimed goes back at once with the receiver's consent, or after a delay
/// without it.
contract TestBatchSettlement {
    struct ChannelConfig {
        address payer;
        /// Who signs vouchers; zero for the payer itself, which may then be a contract.
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        /// Seconds.
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        /// What is claimed of the channel altogether, this claim included.
        uint128 totalClaimed;
    }

    struct Channel {
        /// Deposited, less what went back. Claims don't lower it.
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    uint40 public constant MIN_WITHDRAW_DELAY = 15 minutes;
    uint40 public constant MAX_WITHDRAW_DELAY = 30 days;

    bytes32 public constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 public constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 public constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 public constant CLAIM_ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 public constant CLAIM_BATCH_TYPEHASH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );

    mapping(bytes32 channelId => Channel) public channels;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    /// The nonce that the channel's next refund must carry.
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(address receiver => mapping(address token => Receiver)) public receivers;
    bool private transient entered;

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error ClaimExceedsBalance();
    error ClaimExceedsCeiling();
    error DepositCollectionFailed();
    error EmptyBatch();
    error InvalidChannel();
    error InvalidCollector();
    error InvalidRefundNonce();
    error InvalidSignature();
    error NotAuthorizedToClaim();
    error NotAuthorizedToFinalizeWithdraw();
    error NotAuthorizedToRefund();
    error NotReceiverAuthorizer();
    error NothingToWithdraw();
    error Reentered();
    error TransferFailed();
    error WithdrawAmountExceedsAvailable();
    error WithdrawDelayNotElapsed();
    error WithdrawDelayOutOfRange();
    error WithdrawalAlreadyPending();
    error WithdrawalNotPending();
    error ZeroDeposit();
    error ZeroRefund();

    modifier once() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    /// Several calls of this contract, by the same sender, in one transaction: all or none.
    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            (bool succeeded, bytes memory result) = address(this).delegatecall(data[i]);
            if (!succeeded) {
                assembly ("memory-safe") {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    // The payer's side

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
        once
    {
        if (
            config.payer == address(0) || config.receiver == address(0) || config.receiverAuthorizer == address(0)
                || config.token == address(0)
        ) revert InvalidChannel();
        if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY) {
            revert WithdrawDelayOutOfRange();
        }
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();

        bytes32 channelId = getChannelId(config);
        Channel storage channel = channels[channelId];
        bool isNew = channel.balance == 0 && channel.totalClaimed == 0;
        channel.balance += amount;

        uint256 held = IERC20(config.token).balanceOf(address(this));
        IDepositCollector(collector).collect(config.payer, config.token, amount, channelId, collectorData);
        if (IERC20(config.token).balanceOf(address(this)) != held + amount) revert DepositCollectionFailed();

        if (isNew) emit ChannelCreated(channelId, config);
        emit Deposited(channelId, msg.sender, amount, channel.balance);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external once {
        if (msg.sender != config.payer && msg.sender != config.payerAuthorizer) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 channelId = getChannelId(config);
        if (pendingWithdrawals[channelId].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > _unclaimed(channelId)) revert WithdrawAmountExceedsAvailable();
        pendingWithdrawals[channelId] = Withdrawal(amount, uint40(block.timestamp));
        emit WithdrawInitiated(channelId, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    function finalizeWithdraw(ChannelConfig calldata config) external once {
        if (msg.sender != config.payer && msg.sender != config.payerAuthorizer) {
            revert NotAuthorizedToFinalizeWithdraw();
        }
        bytes32 channelId = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[channelId];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < uint256(pending.initiatedAt) + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        delete pendingWithdrawals[channelId];
        uint128 amount = _smaller(pending.amount, _unclaimed(channelId));
        _giveBack(channelId, config, amount);
        emit WithdrawFinalized(channelId, msg.sender, amount);
    }

    // The receiver's side

    function claim(VoucherClaim[] calldata voucherClaims) external once {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < voucherClaims.length; ++i) {
            if (!_isOfReceiver(msg.sender, voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
            _claim(voucherClaims[i]);
        }
    }

    /// By anyone who has the signature of the authorizer that all the channels share.
    function claimWithSignature(VoucherClaim[] calldata voucherClaims, bytes calldata authorizerSignature)
        external
        once
    {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        if (!Signatures.isValid(authorizer, getClaimBatchDigest(voucherClaims), authorizerSignature)) {
            revert InvalidSignature();
        }
        for (uint256 i = 0; i < voucherClaims.length; ++i) {
            if (voucherClaims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            _claim(voucherClaims[i]);
        }
    }

    /// Pays out what was claimed, by anyone, to the receiver.
    function settle(address receiver, address token) external once {
        Receiver storage state = receivers[receiver][token];
        uint128 amount = state.totalClaimed - state.totalSettled;
        if (amount == 0) return;
        state.totalSettled = state.totalClaimed;
        _send(token, receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external once {
        if (!_isOfReceiver(msg.sender, config)) revert NotAuthorizedToRefund();
        _refund(config, amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external once {
        bytes32 channelId = getChannelId(config);
        if (nonce != refundNonce[channelId]) revert InvalidRefundNonce();
        bytes32 digest = getRefundDigest(channelId, nonce, amount);
        if (!Signatures.isValid(config.receiverAuthorizer, digest, receiverAuthorizerSignature)) {
            revert InvalidSignature();
        }
        _refund(config, amount);
    }

    // EIP-712

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _digest(abi.encode(CHANNEL_CONFIG_TYPEHASH, config));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _digest(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount));
    }

    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return _digest(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](voucherClaims.length);
        for (uint256 i = 0; i < voucherClaims.length; ++i) {
            VoucherClaim calldata one = voucherClaims[i];
            bytes32 channelId = getChannelId(one.voucher.channel);
            hashes[i] = keccak256(
                abi.encode(CLAIM_ENTRY_TYPEHASH, channelId, one.voucher.maxClaimableAmount, one.totalClaimed)
            );
        }
        return _digest(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(abi.encodePacked(hashes))));
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("x402 Batch Settlement"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
    }

    function _digest(bytes memory message) private view returns (bytes32) {
        return Signatures.typedDigest(DOMAIN_SEPARATOR(), keccak256(message));
    }

    /// An older voucher than the newest claim does nothing.
    function _claim(VoucherClaim calldata one) private {
        ChannelConfig calldata config = one.voucher.channel;
        bytes32 channelId = getChannelId(config);
        Channel storage channel = channels[channelId];
        if (one.totalClaimed <= channel.totalClaimed) return;
        if (one.totalClaimed > one.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (one.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        if (!_isVoucher(config, getVoucherDigest(channelId, one.voucher.maxClaimableAmount), one.signature)) {
            revert InvalidSignature();
        }
        uint128 more = one.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = one.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += more;
        emit Claimed(channelId, msg.sender, more, one.totalClaimed);
    }

    function _isVoucher(ChannelConfig calldata config, bytes32 digest, bytes calldata signature)
        private
        view
        returns (bool)
    {
        if (config.payerAuthorizer == address(0)) return Signatures.isValid(config.payer, digest, signature);
        return Signatures.recover(digest, signature) == config.payerAuthorizer;
    }

    /// Each refund uses up its nonce, also one for which nothing is left.
    function _refund(ChannelConfig calldata config, uint128 wanted) private {
        if (wanted == 0) revert ZeroRefund();
        bytes32 channelId = getChannelId(config);
        ++refundNonce[channelId];
        uint128 amount = _smaller(wanted, _unclaimed(channelId));
        if (amount == 0) return;
        Withdrawal storage pending = pendingWithdrawals[channelId];
        if (amount >= pending.amount) delete pendingWithdrawals[channelId];
        else pending.amount -= amount;
        _giveBack(channelId, config, amount);
        emit Refunded(channelId, msg.sender, amount);
    }

    function _giveBack(bytes32 channelId, ChannelConfig calldata config, uint128 amount) private {
        if (amount == 0) return;
        Channel storage channel = channels[channelId];
        channel.balance -= amount;
        _send(config.token, config.payer, amount);
        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelClosed(channelId, config);
    }

    function _send(address token, address to, uint128 amount) private {
        if (!IERC20(token).transfer(to, amount)) revert TransferFailed();
    }

    function _unclaimed(bytes32 channelId) private view returns (uint128) {
        Channel storage channel = channels[channelId];
        return channel.balance - channel.totalClaimed;
    }

    function _isOfReceiver(address sender, ChannelConfig calldata config) private pure returns (bool) {
        return sender == config.receiver || sender == config.receiverAuthorizer;
    }

    function _smaller(uint128 a, uint128 b) private pure returns (uint128) {
        return a < b ? a : b;
    }
}
